"""Which operators autocast may convert the operands of."""

from __future__ import annotations

CONVERTIBLE = frozenset(
    word
    for line in (
        "_addmm_activation _convolution _grid_sampler_2d_cpu_fallback _lu_with_info _mps_convolution",
        "_native_multi_head_attention _scaled_dot_product_flash_attention _thnn_fused_gru_cell _thnn_fused_lstm_cell",
        "_upsample_bicubic2d_aa _upsample_bilinear2d_aa _upsample_nearest_exact1d _upsample_nearest_exact2d",
        "_upsample_nearest_exact3d acos adaptive_avg_pool3d adaptive_max_pool3d addbmm addcdiv addcmul addmm addmv",
        "addr asin atan2 avg_pool3d baddbmm batch_norm bilinear binary_cross_entropy binary_cross_entropy_with_logits",
        "bmm cat cdist chain_matmul cholesky cholesky_inverse cholesky_solve conv1d conv2d conv3d conv_tbc",
        "conv_transpose1d conv_transpose2d conv_transpose3d convolution cosh cosine_embedding_loss cosine_similarity",
        "cross cross_entropy_loss ctc_loss cudnn_convolution cudnn_convolution_transpose cumprod cumsum dist dot",
        "einsum erfinv exp expm1 fake_quantize_per_tensor_affine fft_fft fft_fft2 fft_fftn fft_hfft fft_ifft",
        "fft_ifft2 fft_ifftn fft_ihfft fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn",
        "fractional_max_pool2d fractional_max_pool3d frobenius_norm geqrf grid_sampler grid_sampler_2d",
        "grid_sampler_3d group_norm gru_cell hinge_embedding_loss huber_loss index_copy index_put inverse kl_div",
        "l1_loss layer_norm linalg_cholesky linalg_cholesky_ex linalg_cond linalg_eig linalg_eigh linalg_eigvals",
        "linalg_eigvalsh linalg_householder_product linalg_inv linalg_inv_ex linalg_lstsq linalg_matrix_norm",
        "linalg_matrix_rank linalg_multi_dot linalg_qr linalg_solve linalg_svd linalg_svdvals linalg_tensorinv",
        "linalg_tensorsolve linalg_vecdot linalg_vector_norm linear log log10 log1p log2 log_softmax logsumexp",
        "lstm_cell lu_solve margin_ranking_loss matmul max_pool3d max_unpool2d max_unpool3d mkldnn_rnn_layer mm",
        "mse_loss multi_margin_loss multilabel_margin_loss multilabel_margin_loss_forward mv nanquantile",
        "native_layer_norm nll_loss nll_loss2d norm nuclear_norm orgqr ormqr pdist pinverse poisson_nll_loss polar",
        "pow prelu prod qr quantile reciprocal reflection_pad1d reflection_pad2d renorm replication_pad1d",
        "replication_pad2d replication_pad3d rms_norm rnn_relu_cell rnn_tanh_cell rsqrt scaled_dot_product_attention",
        "scatter_add sinh smooth_l1_loss soft_margin_loss softmax softplus stack stft sum svd tan tensordot trace",
        "triangular_solve triplet_margin_loss upsample_bicubic2d upsample_bilinear2d upsample_linear1d",
        "upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d vdot view_as_complex",
    )
    for word in line.split()
)
"""Those that torch registers for autocast on any device, by their names without overload."""
